-- Cycles through the paths of a file: wrk ... -s bench/wrk.lua URL -- FILE
local requests, at = {}, 0

function init(args)
    for path in io.lines(args[1]) do
        requests[#requests + 1] = wrk.format("GET", path)
    end
end

function request()
    at = at % #requests + 1
    return requests[at]
end
