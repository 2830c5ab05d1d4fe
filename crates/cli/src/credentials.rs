//! How a command and a server know each other: one way to say it for all commands.

use std::path::PathBuf;

use clap::Args;

use crate::exit::{Exit, OrExit};

/// What is shown to a server that lets in only whom it knows, and how the server is known.
#[derive(Args)]
pub(crate) struct Credentials {
    /// A file with the token to show (or the token itself in TENURE_TOKEN)
    #[arg(long, value_name = "FILE", env = "TENURE_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// The token itself; there is no flag for it, because everybody can see flags
    #[arg(skip = std::env::var("TENURE_TOKEN").ok())]
    token: Option<String>,
    /// Trust only the certificate authorities in this file (PEM) when the address is https
    #[arg(long, value_name = "FILE", env = "TENURE_CA_FILE")]
    pub(crate) ca_file: Option<PathBuf>,
}

impl Credentials {
    /// The token, if one is named.
    pub(crate) fn token(&self) -> anyhow::Result<Option<String>> {
        let token = match &self.token_file {
            Some(file) => Some(std::fs::read_to_string(file).or_exit(Exit::Denied, || {
                format!("cannot read the token in {}: check --token-file", file.display())
            })?),
            None => self.token.clone(),
        };
        Ok(token.map(|token| token.trim().to_owned()))
    }
}
