//! Every store keeps the same promises.

use std::sync::Arc;

use claims::Rules;
use registry::conformance::Examined;
use registry::embedded::{Durability, Options, open};

registry::conformance!(memory, || Examined::new(Arc::new(registry::memory(Rules::default()))));

registry::conformance!(embedded, || embedded(Options::default()));

// Small segments and constant snapshots: the promises hold while the log turns over.
registry::conformance!(embedded_turning_over, || embedded(Options {
    segment_bytes: 256 << 10,
    snapshot_after: 2 << 10,
    snapshot_slice: 2,
    ..Options::default()
}));

registry::conformance!(embedded_without_sync, || embedded(Options {
    durability: Durability::None,
    ..Options::default()
}));

fn embedded(options: Options) -> Examined {
    let options = Options { segment_bytes: options.segment_bytes.min(1 << 20), ..options };
    let directory = tempfile::tempdir().expect("a directory");
    let store = open(directory.path(), options).expect("a store");
    Examined::new(Arc::new(store)).housed_in(directory)
}
