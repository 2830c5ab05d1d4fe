//! Flags over variables over the file over the defaults, and where each came from.

use crate::house::{House, Said, tenure};

fn printed(home: &std::path::Path, flags: &[&str], variables: &[(&str, &str)]) -> Said {
    let mut command = tenure(home);
    command.args(["serve", "--print-config"]).args(flags).envs(variables.iter().copied());
    Said::of(command.output().unwrap())
}

#[test]
fn flag_wins_over_variable_over_file_over_default() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("my.toml");
    let text = "list-max = 10\ngrace = \"3s\"\nidle-for = \"7s\"\nhost = [\"a\", \"b\"]\nnew-epoch = true\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let flags = ["--config", file, "--list-max", "30"];
    let variables = [("TENURE_LIST_MAX", "20"), ("TENURE_GRACE", "4s")];
    let out = printed(home.path(), &flags, &variables).good();
    for line in [
        format!("# read from {file}"),
        "list-max = 30  # from --list-max".into(),
        "grace = \"4s\"  # from TENURE_GRACE".into(),
        format!("idle-for = \"7s\"  # from {file}, line 3"),
        format!("host = [\"a\", \"b\"]  # from {file}, line 4"),
        format!("new-epoch = true  # from {file}, line 5"),
        "queue-max = 10000  # default".into(),
    ] {
        assert!(out.lines().any(|printed| printed == line), "{line}\nis not in\n{out}");
    }
    // A truth of the file can be denied by a flag.
    let out = printed(home.path(), &["--config", file, "--new-epoch=false"], &[]).good();
    assert!(out.contains("new-epoch = false  # from --new-epoch\n"), "{out}");
}

#[test]
fn what_is_printed_can_be_read_again_and_is_the_same() {
    let home = tempfile::tempdir().unwrap();
    let first = printed(home.path(), &["--data", "a \"b\" \\c", "--durability", "5ms"], &[]).good();
    let file = home.path().join("again.toml");
    std::fs::write(&file, &first).unwrap();
    let second = printed(home.path(), &["--config", file.to_str().unwrap()], &[]).good();
    let values = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.split("  # ").next().unwrap().to_owned()).collect()
    };
    assert_eq!(values(&first), values(&second));
    assert!(values(&first).len() > 25, "{first}");
}

#[test]
fn file_in_its_usual_place_is_read_and_named() {
    let home = tempfile::tempdir().unwrap();
    let place = home.path().join("config/tenure");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("config.toml"), "list-max = 11\n").unwrap();
    let out = printed(home.path(), &[], &[]).good();
    let file = place.join("config.toml");
    let line = format!("list-max = 11  # from {}, line 1", file.display());
    assert!(out.contains(&line), "{out}");
    // The server says in its log which file it read, before anything else can go wrong.
    let mut command = tenure(home.path());
    let said = Said::of(command.args(["serve", "--listen", "192.0.2.1:0"]).output().unwrap());
    let err = said.bad(78);
    assert!(err.contains("configuration read") && err.contains("config.toml"), "{err}");
}

#[test]
fn wrong_file_is_refused_with_file_line_and_what_to_write_instead() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("my.toml");
    for (text, expected) in [
        (
            "\nlisten-on = '127.0.0.1:0'\n",
            "my.toml, line 2: there is no setting \"listen-on\"; the nearest is \"listen\"",
        ),
        ("listen = 'nowhere'\n", "my.toml, line 1: invalid value 'nowhere' for '--listen"),
        ("queue-max = 0\n", "my.toml, line 1: invalid value '0' for '--queue-max"),
        ("queue-max = -1\n", "my.toml, line 1: invalid value '-1' for '--queue-max"),
        ("grace = '5 parsecs'\n", "a span of time such as 500ms"),
        ("host = 'a'\nhost = 'b'\n", "my.toml, line 2: "),
        ("data = \n", "my.toml, line 1: "),
        ("[limits]\nlist-max = 1\n", "my.toml, line 1: there is no setting \"limits\""),
        ("config = 'x'\n", "my.toml, line 1: there is no setting \"config\""),
    ] {
        std::fs::write(&file, text).unwrap();
        let said = printed(home.path(), &["--config", file.to_str().unwrap()], &[]);
        let err = said.bad(78);
        assert!(err.contains(expected), "{text:?}: {err}");
    }
    let err = printed(home.path(), &["--config", "absent.toml"], &[]).bad(78);
    assert!(err.contains("cannot read absent.toml"), "{err}");
    let err = printed(home.path(), &[], &[("TENURE_QUEUE_MAX", "many")]).bad(64);
    assert!(err.contains("'many'") && err.contains("--queue-max"), "{err}");
}

#[test]
fn settings_reach_the_server() {
    let house =
        House::open_with(&["--listen", "127.0.0.1:0", "--list-max", "2", "--queue-max", "1"]);
    for _ in 0..2 {
        house.claim(r#"{"resource":"one","ttl":60}"#);
    }
    house.claim(r#"{"resource":"two","ttl":60}"#);
    let list = house.get("/v1/claims/?limit=100");
    assert_eq!(list.as_array().unwrap().len(), 2, "list-max counts");
    let said = house.run(&[
        "bench",
        "handover",
        "--connections",
        "4",
        "--seconds",
        "0.2",
        "--warmup",
        "1ms",
    ]);
    assert!(
        said.out.contains("errors") && said.out.contains("the most allowed"),
        "queue-max counts: {said:?}"
    );
}

#[test]
fn every_setting_is_in_the_document_and_every_row_is_a_setting() {
    let home = tempfile::tempdir().unwrap();
    let out = printed(home.path(), &[], &[]).good();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let document = std::fs::read_to_string(root.join("docs/configuration.md")).unwrap();
    let rows: Vec<(String, String)> = document
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
            let key = cells.next()?.trim_matches('`').to_owned();
            let default = cells.next()?.trim_matches('`').to_owned();
            Some((key, default))
        })
        .collect();
    let settings: Vec<(String, String)> = out
        .lines()
        .filter(|line| !line.starts_with("# no configuration") && !line.starts_with("# read"))
        .map(|line| match line.split_once(" = ") {
            Some((key, value)) => (
                key.trim_start_matches("# ").to_owned(),
                value.split("  # ").next().unwrap().to_owned(),
            ),
            None => {
                let key = line.trim_start_matches("# ").split(" is not set").next().unwrap();
                (key.to_owned(), "not set".into())
            }
        })
        .collect();
    assert_eq!(settings, rows, "docs/configuration.md lists what there is, in order");
    let help = {
        let mut command = tenure(home.path());
        Said::of(command.args(["serve", "--help"]).output().unwrap()).good()
    };
    for (key, _) in &settings {
        let variable = format!("TENURE_{}", key.to_uppercase().replace('-', "_"));
        assert!(help.contains(&format!("--{key}")) && help.contains(&variable), "{key}");
    }
}
