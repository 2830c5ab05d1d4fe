//! The protocol by hand: one session, one connection at a time, every byte under control.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// An answer: the status of HTTP, and the words.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Said {
    pub(crate) fn good(self) -> String {
        assert!(self.status == 200 && self.body.contains("Success=\"true\""), "{self:?}");
        self.body
    }

    /// The code and the text of a refusal.
    pub(crate) fn refused(&self) -> (String, String) {
        assert!(self.status == 200 && self.body.contains("Success=\"false\""), "{self:?}");
        let inner = |name| between(&self.body, &format!("<{name}>"), &format!("</{name}>"));
        (inner("ErrorCode"), inner("Error"))
    }

    /// Whether the alias is taken: exactly this, or a mutex does not know what to do.
    pub(crate) fn is_taken(&self) -> bool {
        let taken = "Service with given alias already exists";
        self.refused() == ("100".into(), taken.into())
    }
}

fn between(text: &str, start: &str, end: &str) -> String {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("{start} is not in {text}"));
    rest.split_once(end).unwrap().0.into()
}

/// One connection.
pub(crate) struct Line(BufReader<TcpStream>);

impl Line {
    pub(crate) fn to(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(180))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    pub(crate) fn send(&mut self, method: &str, token: &str, body: &[u8]) {
        let head = format!(
            "POST /ResourceManagerApiService/{method} HTTP/1.1\r\nHost: localhost\r\n\
             Content-Type: text/xml\r\nAuthorization: MachineName=test:8029;Token={token}\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        let stream = self.0.get_mut();
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    }

    /// The next answer; none if the server ended the connection.
    pub(crate) fn answer(&mut self) -> Option<Said> {
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            let line = line.trim_end();
            if status == 0 {
                status = line.split(' ').nth(1).unwrap().parse().unwrap();
            } else if line.is_empty() {
                break;
            } else if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        Some(Said { status, body: String::from_utf8(body).unwrap() })
    }

    /// Closes the connection, and waits until the server has, too.
    pub(crate) fn hang_up(mut self) {
        self.0.get_mut().shutdown(std::net::Shutdown::Write).unwrap();
        let mut rest = Vec::new();
        let _ = self.0.read_to_end(&mut rest);
    }
}

/// A session that asks over one connection, until it is told to use another.
pub(crate) struct Session {
    address: String,
    pub(crate) token: String,
    pub(crate) line: Line,
}

impl Session {
    pub(crate) fn open(address: &str) -> Self {
        Self::open_as(address, "admin", "admin").unwrap()
    }

    pub(crate) fn open_as(address: &str, user: &str, password: &str) -> Result<Self, Said> {
        let mut session =
            Self { address: address.into(), token: String::new(), line: Line::to(address) };
        let arguments = [("username", user), ("password", password), ("domainName", "Global")];
        session.log_on("Logon", &arguments)
    }

    pub(crate) fn open_with(address: &str, token: &str) -> Result<Self, Said> {
        let line = Line::to(address);
        let mut session = Self { address: address.into(), token: String::new(), line };
        session.log_on("SecureLogon", &[("token", token), ("domainName", "Global")])
    }

    fn log_on(&mut self, method: &str, arguments: &[(&str, &str)]) -> Result<Self, Said> {
        let said = self.ask(method, arguments);
        if !said.body.contains("Success=\"true\"") {
            return Err(said);
        }
        let token = between(&said.good(), "<Token Token=\"", "\"");
        let line = Line::to(&self.address);
        Ok(Self { address: self.address.clone(), token, line })
    }

    pub(crate) fn ask(&mut self, method: &str, arguments: &[(&str, &str)]) -> Said {
        self.send(method, arguments);
        self.line.answer().expect("an answer")
    }

    /// Sends a call, and does not read its answer. Values are XML already.
    pub(crate) fn send(&mut self, method: &str, arguments: &[(&str, &str)]) {
        let inner: String =
            arguments.iter().map(|(name, value)| format!("<{name}>{value}</{name}>")).collect();
        let body = format!("<{method}>{inner}</{method}>");
        self.line.send(method, &self.token, body.as_bytes());
    }

    /// Goes on over a new connection; the old one is returned, open.
    pub(crate) fn change_line(&mut self) -> Line {
        std::mem::replace(&mut self.line, Line::to(&self.address))
    }

    pub(crate) fn reserve(&mut self) -> String {
        self.reserve_for(60)
    }

    pub(crate) fn reserve_for(&mut self, minutes: u32) -> String {
        let arguments = [
            ("reservationName", "a &amp; b"),
            ("owner", "admin"),
            ("durationInMinutes", &minutes.to_string()),
        ];
        let said = self.ask("CreateImmediateReservation", &arguments).good();
        between(&said, "<Reservation Id=\"", "\"")
    }

    pub(crate) fn add(&mut self, reservation: &str, alias: &str, owner: &str) -> Said {
        let attributes = attributes("Mutex Owner", owner);
        self.ask("AddServiceToReservation", &wish(reservation, alias, &attributes))
    }

    pub(crate) fn send_add(&mut self, reservation: &str, alias: &str, owner: &str) {
        let attributes = attributes("Mutex Owner", owner);
        self.send("AddServiceToReservation", &wish(reservation, alias, &attributes));
    }

    pub(crate) fn remove(&mut self, reservation: &str, alias: &str) -> Said {
        let services = format!("<string>{alias}</string>");
        let arguments = [("reservationId", reservation), ("services", &services)];
        self.ask("RemoveServicesFromReservation", &arguments)
    }

    pub(crate) fn details(&mut self, reservation: &str) -> String {
        let arguments = [("reservationId", reservation), ("disableCache", "false")];
        self.ask("GetReservationDetails", &arguments).good()
    }
}

fn wish<'a>(id: &'a str, alias: &'a str, attributes: &'a str) -> [(&'a str, &'a str); 4] {
    let service = ("serviceName", "Mutex Service");
    [("reservationId", id), service, ("alias", alias), ("attributes", attributes)]
}

pub(crate) fn attributes(name: &str, value: &str) -> String {
    format!("<AttributeNameValue><Name>{name}</Name><Value>{value}</Value></AttributeNameValue>")
}
