// Inverse kinematics of a UR5: generated C beside the loop of Pinocchio's documentation with a whole step (DT = 1) and a
// damping of 1e-12, which stops at an error of 1e-6. Both start 0.2 rad away from a solution. The argument is a
// text: per joint its type and placement (rotation row-major, position), then those of the flange. A second argument is a
// file for the problems: start, position and quaternion (x, y, z, w) of the aim, a line each.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/spatial.hpp>

extern "C" {
#include "arm.h"
}

using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
static const int COUNT = 1000, REPEATS = 20, MOST = 100;
static const double CLOSE = 1e-6;

static pinocchio::Model read(const char * path)
{
  using namespace pinocchio;
  pinocchio::Model model;
  std::ifstream file(path);
  std::string type;
  for (JointIndex last = 0; file >> type;)
  {
    Eigen::Matrix3d r;
    Eigen::Vector3d p;
    for (int i = 0; i < 9; ++i) file >> r(i / 3, i % 3);
    for (double & x : p) file >> x;
    const SE3 place(r, p);
    const std::string name = "joint" + std::to_string(last);
    if (type == "JointModelRX") last = model.addJoint(last, JointModelRX(), place, name);
    else if (type == "JointModelRY") last = model.addJoint(last, JointModelRY(), place, name);
    else if (type == "JointModelRZ") last = model.addJoint(last, JointModelRZ(), place, name);
    else model.addFrame(Frame(type, last, 0, place, OP_FRAME));
  }
  return model;
}

struct Problem
{
  Eigen::VectorXd start;
  pinocchio::SE3 aim;
};

static Eigen::VectorXd theirs(
  const pinocchio::Model & model, pinocchio::Data & data, pinocchio::FrameIndex frame, const Problem & p)
{
  Eigen::VectorXd q = p.start;
  pinocchio::Data::Matrix6x J(6, model.nv);
  Matrix6 slope, JJt;
  for (int k = 0; k < MOST; ++k)
  {
    pinocchio::forwardKinematics(model, data, q);
    pinocchio::updateFramePlacement(model, data, frame);
    const pinocchio::SE3 off = data.oMf[frame].actInv(p.aim);
    const Vector6 error = pinocchio::log6(off).toVector();
    if (error.norm() < CLOSE) break;
    J.setZero();
    pinocchio::computeFrameJacobian(model, data, q, frame, J);
    pinocchio::Jlog6(off.inverse(), slope);
    J = -slope * J;
    JJt.noalias() = J * J.transpose();
    JJt.diagonal().array() += 1e-12;
    q = pinocchio::integrate(model, q, -J.transpose() * JJt.ldlt().solve(error));
  }
  return q;
}

static Eigen::VectorXd ours(const Problem & p)
{
  static const double weight[6] = {1, 1, 1, 1, 1, 1}, gain[1] = {0}, most[6] = {9, 9, 9, 9, 9, 9},
                      least[6] = {-9, -9, -9, -9, -9, -9}, middle[6] = {0};
  const Eigen::Quaterniond turn(p.aim.rotation());
  const double quat[4] = {turn.x(), turn.y(), turn.z(), turn.w()};
  double work[ARM_INVERSE_KINEMATICS_FLANGE_WORK], error[2], distance[1], status[1];
  Eigen::VectorXd q(6);
  arm_inverse_kinematics_flange(p.start.data(), middle, p.aim.translation().data(), quat, weight, gain, least, most, work,
                                q.data(), error, distance, status);
  return q;
}

template<class Solver>
static void timed(const char * name, const std::vector<Problem> & problems, const Solver & solve,
                  const pinocchio::Model & model, pinocchio::Data & data, pinocchio::FrameIndex frame)
{
  double total = 0, sum = 0;
  int solved = 0;
  for (const Problem & p : problems)
  {
    pinocchio::framesForwardKinematics(model, data, solve(p));
    solved += pinocchio::log6(data.oMf[frame].actInv(p.aim)).toVector().norm() < CLOSE;
  }
  for (const Problem & p : problems)
  {
    double best = 1e300; // of each problem, since other processes use the same processor
    for (int r = 0; r < REPEATS; ++r)
    {
      const auto began = std::chrono::steady_clock::now();
      sum += solve(p)[0];
      const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
      best = std::min(best, took.count());
    }
    total += best;
  }
  std::printf("| %s | %.1f | %.1f %% |\n", name, sum == 1e300 ? 0 : total / COUNT, 100.0 * solved / COUNT);
}

static void write(const char * path, const std::vector<Problem> & problems)
{
  std::ofstream file(path);
  file.precision(17);
  for (const Problem & p : problems)
  {
    const Eigen::Quaterniond turn(p.aim.rotation());
    file << p.start.transpose() << " " << p.aim.translation().transpose() << " " << turn.coeffs().transpose() << "\n";
  }
}

int main(int, char ** arguments)
{
  pinocchio::Model model = read(arguments[1]);
  pinocchio::Data data(model);
  const pinocchio::FrameIndex frame = model.getFrameId("flange");
  std::mt19937 random(1);
  std::uniform_real_distribution<double> anywhere(-2.5, 2.5);
  std::normal_distribution<double> normal;
  std::vector<Problem> problems;
  for (int k = 0; k < COUNT; ++k)
  {
    Eigen::VectorXd q(6), away(6);
    for (int i = 0; i < 6; ++i) { q[i] = anywhere(random); away[i] = normal(random); }
    pinocchio::framesForwardKinematics(model, data, q);
    problems.push_back({q + 0.2 * away.normalized(), data.oMf[frame]});
  }
  write(arguments[2], problems);
  timed("symgen, 6 iterations", problems, ours, model, data, frame);
  timed("Pinocchio, until 1e-6", problems, [&](const Problem & p) { return theirs(model, data, frame, p); }, model, data,
        frame);
}
