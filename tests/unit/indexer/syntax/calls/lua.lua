local json = require("cjson.safe")
local Session = require "net.session"

local function helper(text)
  return trim(text)
end

function Store.load(key)
  local session = Session.new(key)
  session:fetch(key, helper)
  json.decode(helper(key))
  self.cache.rows:put(key)
end

function Store:save(key)
  self:load(key)
end
