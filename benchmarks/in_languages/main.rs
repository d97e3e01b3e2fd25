use std::hint::black_box;
use std::time::Instant;

const STATES: usize = 64;
type Rows = [[f64; 6]; STATES];
type Function = fn(&[f64; 6], &[f64; 6], &[f64; 6], &mut [f64; 6]);

fn forward(q: &[f64; 6], qd: &[f64; 6], tau: &[f64; 6], qdd: &mut [f64; 6]) {
    let _ = ur5::forward_dynamics(q, qd, tau, qdd);
}

fn main() {
    let rows = |a: usize| -> Rows {
        std::array::from_fn(|s| std::array::from_fn(|k| (((s * 7 + k * 5 + a * 3) % 31) as f64 - 15.0) / 10.0))
    };
    let x = black_box([rows(0), rows(1), rows(2)]);
    let mut y: Rows = [[0.0; 6]; STATES];
    for function in [ur5::inverse_dynamics as Function, forward] {
        let mut least = f64::INFINITY;
        for _ in 0..300 {
            let start = Instant::now();
            for _ in 0..10 {
                for s in 0..STATES {
                    function(&x[0][s], &x[1][s], &x[2][s], &mut y[s]);
                }
            }
            least = least.min(start.elapsed().as_nanos() as f64 / (10 * STATES) as f64);
            black_box(&y);
        }
        println!("{least:.3}");
    }
}
