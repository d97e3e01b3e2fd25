// Nanoseconds per state of symgen's C++ header and of Pinocchio's C++ on Eigen, in turn: MODEL is the robot
// (model.hpp). One line for each function: its name, symgen, Pinocchio, the largest relative difference.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>
#include "model.hpp"
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include "panda_arm_robot_eigen.hpp"

using Vector = Eigen::Matrix<double, panda_arm_robot::nv, 1>;
using Square = Eigen::Matrix<double, panda_arm_robot::nv, panda_arm_robot::nv>;
constexpr int states = 64, rounds = 200;

template <class F>
static double nanoseconds(F call)
{
    double least = 1e30;
    for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int s = 0; s < states; ++s)
            call(s);
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
        least = std::min(least, took.count() / states);
    }
    return least;
}

int main()
{
    const Plain model = read(MODEL);
    pinocchio::DataTpl<double, 0, Joints> data(model);
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1.5, 1.5);
    std::vector<Vector> q(states), qd(states), qdd(states);
    for (auto *array : {&q, &qd, &qdd})
        for (auto &x : *array)
            x = Vector::NullaryExpr([&] { return uniform(random); });

    Vector tau;
    const double ours_id = nanoseconds([&](int s) { tau = panda_arm_robot::inverse_dynamics(q[s], qd[s], qdd[s]); });
    const double theirs_id = nanoseconds([&](int s) { pinocchio::rnea(model, data, q[s], qd[s], qdd[s]); });
    std::printf("inverse_dynamics %.1f %.1f %.1e\n", ours_id, theirs_id, (tau - data.tau).norm() / tau.norm());

    Square M;
    const double ours_m = nanoseconds([&](int s) { M = panda_arm_robot::mass_matrix(q[s]); });
    const double theirs_m = nanoseconds([&](int s) { pinocchio::crba(model, data, q[s]); });
    const Square whole = data.M.selfadjointView<Eigen::Upper>();
    std::printf("mass_matrix %.1f %.1f %.1e\n", ours_m, theirs_m, (M - whole).norm() / M.norm());
}
