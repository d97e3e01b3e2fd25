import { forward_dynamics, inverse_dynamics } from "./ur5.mjs";

const STATES = 64;
const rows = (a) =>
  Array.from({ length: STATES }, (_, s) =>
    Float64Array.from({ length: 6 }, (_, k) => (((s * 7 + k * 5 + a * 3) % 31) - 15) / 10),
  );
const x = [rows(0), rows(1), rows(2)];
const y = rows(0);
for (const f of [inverse_dynamics, forward_dynamics]) {
  let least = Infinity;
  for (let round = 0; round < 600; ++round) {
    const start = process.hrtime.bigint();
    for (let k = 0; k < 10; ++k) {
      for (let s = 0; s < STATES; ++s) f(x[0][s], x[1][s], x[2][s], y[s]);
    }
    least = Math.min(least, Number(process.hrtime.bigint() - start) / (10 * STATES));
  }
  console.log(least.toFixed(3));
}
