//! Which server a command speaks to, and with what token: one place for all commands.

use std::path::PathBuf;

use clap::Args;

use crate::credentials::Credentials;
use crate::exit::{Exit, OrExit};
use crate::http::{Address, Server};
use crate::serve::TOKEN_FILE;

/// Which server is asked.
#[derive(Args)]
pub(crate) struct Place {
    /// The address of the server
    #[arg(long, value_name = "URL", env = "TENURE_URL", default_value = "http://127.0.0.1:7117")]
    at: String,
    #[command(flatten)]
    credentials: Credentials,
    /// The data directory of a server on this machine: its administrator's token is used if no other is named
    #[arg(long, value_name = "DIRECTORY", env = "TENURE_DATA", default_value = "./tenure-data")]
    data: PathBuf,
}

/// Whether a command can do without a token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    Needed,
    IfThere,
}

impl Place {
    pub(crate) fn server(&self, need: Token) -> anyhow::Result<Server> {
        let address = Address::parse(&self.at)?;
        let token = self.token(&address, need)?;
        Server::new(address, token.as_deref(), self.credentials.ca_file.as_deref())
    }

    fn token(&self, address: &Address, need: Token) -> anyhow::Result<Option<String>> {
        if let Some(token) = self.credentials.token()? {
            return Ok(Some(token));
        }
        // An administrator's token is for the server beside its directory, and for nobody else.
        let file = self.data.join(TOKEN_FILE);
        let local = address.is_local().then(|| std::fs::read_to_string(&file));
        match (local, need) {
            (Some(Ok(token)), _) => Ok(Some(token.trim().to_owned())),
            (_, Token::IfThere) => Ok(None),
            (Some(Err(error)), Token::Needed) => Err(error).or_exit(Exit::Denied, || {
                let file = file.display();
                format!(
                    "cannot read the administrator's token in {file}: name the server's data \
                     directory with --data, or a token with --token-file"
                )
            }),
            (None, Token::Needed) => Err(Exit::Denied.because(format!(
                "a server on another machine ({address}) wants a token: name one with --token-file, \
                 TENURE_TOKEN_FILE or TENURE_TOKEN"
            ))),
        }
    }
}
