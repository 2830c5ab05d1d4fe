use claims::*;
use std::time::Instant;
fn reg(key: u64, name: &Name) -> Command {
    let mut k = [0; 16];
    k[..8].copy_from_slice(&key.wrapping_mul(0x9E3779B97F4A7C15).to_le_bytes());
    k[8..].copy_from_slice(&key.to_le_bytes());
    Command::Register(Registration {
        key: KeyHash(k),
        resources: Resources::one(name.clone()),
        limit: Limit::EXCLUSIVE,
        ttl: Ttl::new(Span::from_secs(60)).unwrap(),
        data: None,
    })
}
fn main() {
    let mut state = State::new(Rules::default());
    let mut events = Vec::new();
    let names: Vec<Name> =
        (0..1000).map(|n| Name::new(&format!("resource/number-{n:08}/padding")).unwrap()).collect();
    let n = 1_000_000u64;
    let t = Instant::now();
    for i in 0..n {
        let stamp = Stamp { at: Timestamp::from_micros(i), wall: WallTime(0) };
        let c = reg(i, &names[i as usize % 1000]);
        let Command::Register(r) = &c else { unreachable!() };
        let key = r.key;
        let s = engine::execute(&mut state, c, stamp, &mut events).unwrap();
        engine::execute(
            &mut state,
            Command::End(Owner { claim: s.claim.id, key }, Farewell::Release),
            stamp,
            &mut events,
        )
        .unwrap();
        if events.len() > 200 {
            engine::sweep(&mut state, stamp, &mut events);
            events.clear();
        }
    }
    let e = t.elapsed();
    println!(
        "{:.0} decisions/s, {:.0} ns each; Claim {} B, Event {} B",
        2.0 * n as f64 / e.as_secs_f64(),
        e.as_nanos() as f64 / (2 * n) as f64,
        size_of::<Claim>(),
        size_of::<Event>()
    );
}
