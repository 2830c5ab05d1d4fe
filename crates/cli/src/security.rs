//! How `serve` is protected: encryption, tokens, the audit log, and who may reach it at all.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgAction, Args};
use server::{Audit, Certificate, TokenFile, Tokens};
use tokio::signal::unix::{SignalKind, signal};

use crate::config::parse_bool;
use crate::exit::Exit;
use crate::reservations::Reservations;

/// What `serve` can be told about its protection.
#[derive(Args)]
#[command(next_help_heading = "Protection")]
pub(crate) struct Security {
    /// Encrypt with the certificate in this PEM file, followed by those that vouch for it; noticed
    /// when it is replaced
    #[arg(long, env = "TENURE_TLS_CERT", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, env = "TENURE_TLS_KEY", value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Serve only those who have a token (see `tenure token`)
    #[arg(long, env = "TENURE_REQUIRE_TOKENS", default_value = "false", default_missing_value = "true", action = ArgAction::Set, num_args = 0..=1, require_equals = true, value_parser = parse_bool)]
    require_tokens: bool,
    /// Write each change and each denied request to this file as a line of JSON (- for stderr);
    /// opened again on SIGHUP
    #[arg(long, env = "TENURE_AUDIT", value_name = "FILE")]
    audit: Option<PathBuf>,
    /// Listen beyond this machine although everybody who reaches the port can claim, or read along
    #[arg(long, env = "TENURE_LET_EVERYBODY_IN_WITHOUT_ENCRYPTION", default_value = "false", default_missing_value = "true", action = ArgAction::Set, num_args = 0..=1, require_equals = true, value_parser = parse_bool)]
    let_everybody_in_without_encryption: bool,
}

/// What protects a server, opened and ready.
pub(crate) struct Protection {
    pub(crate) tls: Option<Arc<Certificate>>,
    pub(crate) tokens: Option<Arc<Tokens>>,
    pub(crate) audit: Option<Arc<Audit>>,
}

impl Security {
    /// Refuses half a certificate, and to be reached from other machines without encryption and
    /// tokens.
    pub(crate) fn allow(&self, listen: SocketAddr) -> anyhow::Result<()> {
        let tokens = "tokens (--require-tokens, made with `tenure token create`)";
        self.allow_if(listen, self.require_tokens, tokens)
    }

    /// The same for reservations, where users log on with passwords.
    pub(crate) fn allow_reservations(&self, wish: &Reservations) -> anyhow::Result<()> {
        let users = "users (--cloudshell-user NAME:HASH, made with `tenure password NAME`)";
        match wish.cloudshell {
            Some(listen) => self.allow_if(listen, wish.has_users(), users),
            None => Ok(()),
        }
    }

    fn allow_if(
        &self,
        listen: SocketAddr,
        knows_its_callers: bool,
        how_it_would: &str,
    ) -> anyhow::Result<()> {
        if self.tls_cert.is_some() != self.tls_key.is_some() {
            let said = "a certificate goes with its key: say both --tls-cert and --tls-key";
            return Err(Exit::Config.because(said));
        }
        let mut missing = Vec::new();
        if self.tls_cert.is_none() {
            missing.push("encryption (--tls-cert FILE --tls-key FILE)");
        }
        if !knows_its_callers {
            missing.push(how_it_would);
        }
        if listen.ip().is_loopback() || missing.is_empty() {
            return Ok(());
        }
        if !self.let_everybody_in_without_encryption {
            return Err(Exit::Config.because(format!(
                "{listen} can be reached from other machines, and that needs {}: add what is \
                 missing, listen on 127.0.0.1, or insist with \
                 --let-everybody-in-without-encryption",
                missing.join(" and ")
            )));
        }
        tracing::warn!(%listen, "other machines can reach this without {}", missing.join(" and "));
        Ok(())
    }

    /// Opens everything, so that what is wrong is said before the server starts.
    pub(crate) fn open(&self, data: &Path) -> anyhow::Result<Protection> {
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(chain), Some(key)) => Some(Arc::new(Certificate::open(chain, key)?)),
            _ => None,
        };
        let tokens = match self.require_tokens {
            true => Some(Arc::new(Tokens::within(data)?)),
            false => {
                if TokenFile::within(data).path().exists() {
                    tracing::warn!("there are tokens, but nobody needs one: --require-tokens");
                }
                None
            }
        };
        let audit = self.audit.as_deref().map(Audit::open).transpose()?.map(Arc::new);
        Ok(Protection { tls, tokens, audit })
    }
}

impl Protection {
    /// Looks at all files again whenever somebody asks with SIGHUP. A server without any of them is
    /// left to the custom of the terminal: it ends.
    pub(crate) fn heed_hangups(&self) -> std::io::Result<()> {
        let (tls, tokens, audit) = (self.tls.clone(), self.tokens.clone(), self.audit.clone());
        if tls.is_none() && tokens.is_none() && audit.is_none() {
            return Ok(());
        }
        let mut hangup = signal(SignalKind::hangup())?;
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                tls.iter().for_each(|tls| tls.refresh());
                tokens.iter().for_each(|tokens| tokens.refresh());
                audit.iter().for_each(|audit| audit.reopen());
            }
        });
        Ok(())
    }
}
