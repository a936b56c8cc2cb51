-- What wrk sends: of each hundred requests RACKPLAN_READS read, RACKPLAN_SMALL are small plans, the rest large ones.
-- A request is chosen by a counter, not at random, so that every run has the same share of each.
local reads, small = tonumber(os.getenv("LOAD_READS")), tonumber(os.getenv("LOAD_SMALL"))
local path, plans = os.getenv("LOAD_PATH"), "/v1/plans/replicas"
local headers = {["Content-Type"] = "application/json"}
local bodies = {small = os.getenv("LOAD_SMALL_BODY"), large = os.getenv("LOAD_LARGE_BODY")}
local threads, count, seed = {}, 0, 0

function setup(thread)
  thread:set("seed", #threads * 1000000 + os.time() % 100000 * 10000000)
  table.insert(threads, thread)
end

function init(args)
  by_status, count = {}, 0
end

function request()
  count = count + 1
  local place = (count * 37) % 100 -- a permutation of 0 to 99
  if place < reads then return wrk.format("GET", path) end
  local kind = place < reads + small and "small" or "large"
  -- Each plan is another one, which is solved and stored.
  return wrk.format("POST", plans, headers, (bodies[kind]:gsub("SEED", string.format("%d", (seed + count) % 2147483647))))
end

-- Milliseconds that each connection waits before a request, of up to twice the mean so that they do not march in step.
local pause = tonumber(os.getenv("LOAD_DELAY_MS"))
if pause > 0 then
  function delay()
    return math.random(0, 2 * pause)
  end
end

function response(status)
  by_status[status] = (by_status[status] or 0) + 1
end

function done(summary, latency)
  local merged = {}
  for _, thread in ipairs(threads) do
    for status, n in pairs(thread:get("by_status")) do merged[status] = (merged[status] or 0) + n end
  end
  local parts = {}
  for status, n in pairs(merged) do table.insert(parts, string.format('"%d":%d', status, n)) end
  local errors = summary.errors
  io.write(string.format('\nRESULT {"seconds":%.3f,"requests":%d,"p50_ms":%.2f,"p99_ms":%.2f,"max_ms":%.2f,"lost":%d,"statuses":{%s}}\n',
    summary.duration / 1e6, summary.requests, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3,
    errors.connect + errors.read + errors.write + errors.timeout, table.concat(parts, ",")))
end
