//! A directory in memory that can be looked into, damaged, filled up and made to fail.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use claims::{
    Command, Farewell, KeyHash, Limit, Name, Owner, Registration, Resources, Rules, Span, Standing,
    Ttl, WallTime,
};
use registry::StoreError;
use registry::embedded::{Ledger, Medium, MediumFile, Options, Reading};

/// The bytes of a file.
type Content = Rc<RefCell<Vec<u8>>>;

/// The twin. Copies are the same directory; [`Twin::backup`] is another one.
#[derive(Clone, Default)]
pub struct Twin {
    files: Rc<RefCell<BTreeMap<String, Content>>>,
    births: Rc<RefCell<BTreeMap<String, u64>>>,
    pub faults: Rc<Faults>,
}

#[derive(Default)]
pub struct Faults {
    /// Bytes that fit, if there is a limit.
    pub capacity: Cell<Option<u64>>,
    /// Nothing can be created: the process has no descriptor left.
    pub no_descriptors: Cell<bool>,
    /// The next sync fails.
    pub sync_fails: Cell<bool>,
    pub syncs: Cell<u64>,
    births: Cell<u64>,
}

#[derive(Clone)]
pub struct TwinFile(Content, Twin);

impl Twin {
    /// Its files, to be damaged.
    pub fn file(&self, name: &str) -> Content {
        self.files.borrow()[name].clone()
    }

    pub fn names(&self, prefix: &str) -> Vec<String> {
        let names = self.files.borrow();
        names.keys().filter(|name| name.starts_with(prefix)).cloned().collect()
    }

    /// A copy of every byte, as a backup program would make it.
    pub fn backup(&self) -> Self {
        let copy = self.image();
        for name in self.names("") {
            copy.give_birth(&name);
        }
        copy
    }

    /// The same directory at this moment: what a crash would find.
    pub fn image(&self) -> Self {
        let copy = Self::default();
        for (name, file) in self.files.borrow().iter() {
            let file = Rc::new(RefCell::new(file.borrow().clone()));
            copy.files.borrow_mut().insert(name.clone(), file);
        }
        copy.births.borrow_mut().extend(self.births.borrow().clone());
        copy.faults.births.set(self.faults.births.get() + 1000);
        copy
    }

    pub fn bytes(&self) -> u64 {
        self.files.borrow().values().map(|file| file.borrow().len() as u64).sum()
    }

    fn give_birth(&self, name: &str) {
        self.faults.births.set(self.faults.births.get() + 1);
        self.births.borrow_mut().insert(name.into(), self.faults.births.get());
    }

    fn room_for(&self, more: u64) -> io::Result<()> {
        match self.faults.capacity.get() {
            Some(capacity) if self.bytes() + more > capacity => {
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }
}

impl Medium for Twin {
    type File = TwinFile;

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.names(""))
    }
    fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        Ok(self.file(name).borrow().clone())
    }
    fn create(&self, name: &str, len: u64) -> io::Result<TwinFile> {
        if self.faults.no_descriptors.get() {
            return Err(io::Error::from_raw_os_error(24));
        }
        self.files.borrow_mut().remove(name);
        self.room_for(len)?;
        let file = Rc::new(RefCell::new(vec![0; len as usize]));
        self.files.borrow_mut().insert(name.into(), file.clone());
        self.give_birth(name);
        Ok(TwinFile(file, self.clone()))
    }
    fn open(&self, name: &str) -> io::Result<TwinFile> {
        Ok(TwinFile(self.file(name), self.clone()))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let file = self.files.borrow_mut().remove(from).ok_or(io::ErrorKind::NotFound)?;
        self.files.borrow_mut().insert(to.into(), file);
        let born = self.births.borrow_mut().remove(from).ok_or(io::ErrorKind::NotFound)?;
        self.births.borrow_mut().insert(to.into(), born);
        Ok(())
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.births.borrow_mut().remove(name);
        self.files.borrow_mut().remove(name).map(drop).ok_or(io::ErrorKind::NotFound.into())
    }
    fn sync_names(&self) -> io::Result<()> {
        Ok(())
    }
    fn birthmark(&self, name: &str) -> io::Result<u64> {
        self.births.borrow().get(name).copied().ok_or(io::ErrorKind::NotFound.into())
    }
}

impl MediumFile for TwinFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let end = offset as usize + bytes.len();
        let growth = end.saturating_sub(self.0.borrow().len());
        self.1.room_for(growth as u64)?;
        let mut file = self.0.borrow_mut();
        let length = file.len().max(end);
        file.resize(length, 0);
        file[offset as usize..end].copy_from_slice(bytes);
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        self.1.faults.syncs.set(self.1.faults.syncs.get() + 1);
        match self.1.faults.sync_fails.replace(false) {
            true => Err(io::Error::other("the disk is dying")),
            false => Ok(()),
        }
    }
}

/// A store on a twin, driven by hand.
pub struct Store {
    pub ledger: Ledger<Twin>,
    pub twin: Twin,
    boot: u64,
    keys: u64,
}

/// Small segments, no snapshots unless asked for.
pub fn small() -> Options {
    Options {
        rules: Rules { events_max: 16, ..Rules::default() },
        segment_bytes: 8 << 10,
        snapshot_after: u64::MAX,
        snapshot_slice: 3,
        salt: *b"salt of the twin",
        ..Options::default()
    }
}

impl Store {
    pub fn open(twin: &Twin, options: Options) -> Result<Self, StoreError> {
        let reading = Reading { boot: Span::from_secs(1), wall: WallTime(0) };
        let ledger = Ledger::open(twin.clone(), options, reading)?;
        // Keys that no earlier life of the store has used.
        let keys = ledger.state().counters().next_claim.0 << 8;
        Ok(Self { ledger, twin: twin.clone(), boot: 1_000_000, keys })
    }

    /// A moment later.
    pub fn pass(&mut self, span: Span) {
        let step = 500_000;
        let mut left = span.as_micros();
        while left > 0 {
            self.boot += left.min(step);
            left -= left.min(step);
            let wall = WallTime(self.boot / 1000);
            self.ledger.tick(Reading { boot: Span::from_micros(self.boot), wall });
        }
    }

    /// Runs one command and makes it durable, chores included.
    pub fn run(&mut self, command: Command) -> Standing {
        self.try_run(command).unwrap().unwrap()
    }

    pub fn try_run(&mut self, command: Command) -> Result<registry::Answer, StoreError> {
        self.pass(Span::from_micros(10));
        let answer = self.ledger.execute(command);
        self.ledger.commit().unwrap();
        self.do_chores();
        answer
    }

    pub fn do_chores(&mut self) {
        while let Some(chore) = self.ledger.next_chore() {
            self.ledger.finish(chore.run()).unwrap();
        }
    }

    pub fn wish(&mut self, name: &str) -> Registration {
        self.keys += 1;
        let mut key = [0; 16];
        key[..8].copy_from_slice(&self.keys.to_le_bytes());
        Registration {
            key: KeyHash(key),
            resources: Resources::one(Name::new(name).unwrap()),
            limit: Limit::EXCLUSIVE,
            ttl: Ttl::from_secs_f64(60.0).unwrap(),
            data: None,
        }
    }

    pub fn claim(&mut self, name: &str) -> (Standing, Owner) {
        let wish = self.wish(name);
        let key = wish.key;
        let standing = self.run(Command::Register(wish));
        let owner = Owner { claim: standing.claim.id, key };
        (standing, owner)
    }

    pub fn release(&mut self, owner: Owner) -> Standing {
        self.run(Command::End(owner, Farewell::Release))
    }
}
