// What RobCoGen wrote for an arm of six joints: without OURS the program describes the arm, a line a link; with our
// C of that arm it compares values first, then prints nanoseconds a call, both timed in turns.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>

#include <ct/models/HyA/generated/declarations.h>
#include <ct/models/HyA/generated/traits.h>

using Arm = iit::ct_HyA::tpl::Traits<double>;

#ifndef OURS
template <typename Motion, typename Inertia>
static void described(Motion &motion, const Inertia &inertia) {
    const Eigen::Matrix<double, 6, 6> x = motion.update(Arm::JointState::Zero()), i = inertia;
    for (int k = 0; k < 36; ++k) {
        std::printf("%.17g ", x(k / 6, k % 6));
    }
    for (int k = 0; k < 36; ++k) {
        std::printf("%.17g ", i(k / 6, k % 6));
    }
    std::printf("\n");
}

int main() {
    Arm::InertiaProperties i;
    Arm::MotionTransforms x;
    described(x.fr_Shoulder_AA_X_fr_HyABase, i.getTensor_Shoulder_AA());
    described(x.fr_Shoulder_FE_X_fr_Shoulder_AA, i.getTensor_Shoulder_FE());
    described(x.fr_Humerus_R_X_fr_Shoulder_FE, i.getTensor_Humerus_R());
    described(x.fr_Elbow_FE_X_fr_Humerus_R, i.getTensor_Elbow_FE());
    described(x.fr_Wrist_R_X_fr_Elbow_FE, i.getTensor_Wrist_R());
    described(x.fr_Wrist_FE_X_fr_Wrist_R, i.getTensor_Wrist_FE());
    return 0;
}
#else
extern "C" {
#include "arm.h"
}

using Vector = Eigen::Matrix<double, 6, 1>;
using Matrix = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;
constexpr int STATES = 64, CALLS = 6400, ROUNDS = 40;

static double nanoseconds(const std::function<void(int)> &call) {
    const auto began = std::chrono::steady_clock::now();
    for (int k = 0; k < CALLS; ++k) {
        call(k % STATES);
    }
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count() / CALLS;
}

template <typename Value>
static void compared(const char *name, const std::function<void(int)> &ours, const Value &a,
                     const std::function<void(int)> &theirs, const Value &b) {
    double worst = 0, best[2] = {1e300, 1e300};
    for (int s = 0; s < STATES; ++s) {
        ours(s);
        theirs(s);
        worst = std::max(worst, (a - b).cwiseAbs().maxCoeff() / std::max(1.0, b.cwiseAbs().maxCoeff()));
    }
    for (int round = 0; round < ROUNDS; ++round) {
        best[0] = std::min(best[0], nanoseconds(ours));
        best[1] = std::min(best[1], nanoseconds(theirs));
    }
    std::printf("%s %.1f %.1f %.1e\n", name, best[0], best[1], worst);
}

int main() {
    Arm::InertiaProperties inertias;
    Arm::MotionTransforms motions;
    Arm::ForceTransforms forces;
    Arm::InvDynEngine inverse(inertias, motions);
    Arm::FwdDynEngine forward(inertias, motions);
    Arm::JSIM matrix(inertias, forces);
    Vector q[STATES], qd[STATES], qdd[STATES], tau[STATES], mine, yours;
    Matrix m, n;
    double work[ARM_FORWARD_DYNAMICS_WORK];
    std::srand(0);
    for (int s = 0; s < STATES; ++s) {
        q[s].setRandom();
        qd[s].setRandom();
        qdd[s].setRandom();
        arm_inverse_dynamics(q[s].data(), qd[s].data(), qdd[s].data(), tau[s].data());
    }
    compared<Vector>("inverse_dynamics",
        [&](int s) { arm_inverse_dynamics(q[s].data(), qd[s].data(), qdd[s].data(), mine.data()); }, mine,
        [&](int s) { inverse.id(yours, q[s], qd[s], qdd[s]); }, yours);
    compared<Vector>("gravity",
        [&](int s) { arm_gravity(q[s].data(), mine.data()); }, mine,
        [&](int s) { inverse.G_terms(yours, q[s]); }, yours);
    compared<Matrix>("mass_matrix",
        [&](int s) { arm_mass_matrix(q[s].data(), m.data()); }, m,
        [&](int s) { n = matrix.update(q[s]); }, n);
    compared<Vector>("forward_dynamics",
        [&](int s) { (void)arm_forward_dynamics(q[s].data(), qd[s].data(), tau[s].data(), work, mine.data()); }, mine,
        [&](int s) { forward.fd(yours, q[s], qd[s], tau[s]); }, yours);
    return 0;
}
#endif
