% The least time of a state over rounds, in nanoseconds, of inverse and of forward dynamics: main.m's first argument is
% how they are called, "function", "gateway" or "states".
how = argv(){1};
q = linspace(-1, 1, 6)';
if strcmp(how, "states")
    q = repmat(q, 1, 64);
end
v = 0.5 * q;
if strcmp(how, "function")
    calls = {@() ur5_robot.inverse_dynamics(q, v, v), @() ur5_robot.forward_dynamics(q, v, v)};
    rounds = 30;
else
    calls = {@() ur5_mex("inverse_dynamics", q, v, v), @() ur5_mex("forward_dynamics", q, v, v)};
    rounds = 1000;
end
for k = 1:2
    call = calls{k};
    call();
    least = Inf;
    for turn = 1:5
        tic;
        for round = 1:rounds
            call();
        end
        least = min(least, toc / rounds);
    end
    printf("%.1f ", 1e9 * least / columns(q));
end
