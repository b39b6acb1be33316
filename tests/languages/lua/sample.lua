local json = require("json")

local LIMIT <const> = 10
local running, waiting = false, {}
VERSION = "1.0"

--- An order and its lines.
local Order = {}
Order.__index = Order

function Order.new(lines)
  return setmetatable({ lines = lines or {} }, Order)
end

function Order:total()
  local sum = 0
  for _, line in ipairs(self.lines) do
    sum = sum + line.price * line.count
  end
  return sum
end

Order.add = function(self, line, ...)
  table.insert(self.lines, line)
end

local function helper(text)
  local function trim(value)
    return value:match("^%s*(.-)%s*$")
  end
  return trim(text)
end

local double = function(n)
  return n * 2
end

function shout(text)
  return text:upper() .. [[
!
]]
end

local handlers = {
  open = function(order)
    return order
  end,
  ["close"] = function()
    goto done
    ::done::
  end,
}

describe("order", function()
  it("is empty", function()
    assert.same(0, Order.new():total())
  end)
end)

return { Order = Order, helper = helper }
