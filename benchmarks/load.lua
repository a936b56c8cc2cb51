-- What wrk sends: of each hundred requests RACKPLAN_READS read, RACKPLAN_SMALL are small plans, the rest large ones.
-- A request is chosen by a counter, not at random, so that every run has the same share of each.
local reads, small = tonumber(os.getenv("LOAD_READS")), tonumber(os.getenv("LOAD_SMALL"))
local path, plans = os.getenv("LOAD_PATH"), "/v1/plans/replicas"
local headers = {["Content-Type"] = "application/json"}
local bodies = {small = os.getenv("LOAD_SMALL_BODY"), large = os.getenv("LOAD_LARGE_BODY")}
local threads, count = {}, 0

-- With one connection a thread, the time of an answer is known, so that times are also counted by status.
local timed = os.getenv("LOAD_TIMED") == "1"
local ffi = require("ffi")
ffi.cdef("typedef struct { long s; long ns; } moment; int clock_gettime(int clock, moment *now);")
local MONOTONIC, now = 1, ffi.new("moment")
local function now_ms()
  ffi.C.clock_gettime(MONOTONIC, now)
  return tonumber(now.s) * 1e3 + tonumber(now.ns) / 1e6
end
local sent_ms = 0

-- The global `seed` of each thread: no two of a run, and no two runs, send the same seeds.
function setup(thread)
  thread:set("seed", #threads * 1000000 + os.time() % 100000 * 10000000)
  table.insert(threads, thread)
end

function init(args)
  by_status, times, count = {}, "", 0
end

function request()
  count = count + 1
  if timed then sent_ms = now_ms() end
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
  if timed then
    -- Text: wrk fails to copy large tables between threads.
    times = string.format("%s%d %.3f ", times, status, now_ms() - sent_ms)
  end
end

local function quantiles(values)
  table.sort(values)
  local function at(share) return values[math.max(1, math.ceil(share * #values))] end
  return string.format('{"p50_ms":%.2f,"p99_ms":%.2f,"max_ms":%.2f}', at(0.5), at(0.99), at(1))
end

function done(summary, latency)
  local merged, merged_times = {}, {}
  for _, thread in ipairs(threads) do
    for status, n in pairs(thread:get("by_status")) do merged[status] = (merged[status] or 0) + n end
    for status, ms in thread:get("times"):gmatch("(%d+) (%S+)") do
      merged_times[status] = merged_times[status] or {}
      table.insert(merged_times[status], tonumber(ms))
    end
  end
  local timed_parts = {}
  for status, values in pairs(merged_times) do
    table.insert(timed_parts, string.format('"%s":%s', status, quantiles(values)))
  end
  local parts = {}
  for status, n in pairs(merged) do table.insert(parts, string.format('"%d":%d', status, n)) end
  local errors = summary.errors
  io.write(string.format('\nRESULT {"seconds":%.3f,"requests":%d,"p50_ms":%.2f,"p99_ms":%.2f,"max_ms":%.2f,"lost":%d,"statuses":{%s},"times":{%s}}\n',
    summary.duration / 1e6, summary.requests, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency.max / 1e3,
    errors.connect + errors.read + errors.write + errors.timeout, table.concat(parts, ","), table.concat(timed_parts, ",")))
end
