local scale = require "scale"

-- A basket.
local function total(weights)
  -- all of them
  local may_sum = 0
  for _, may_weigh in ipairs(weights) do
    if may_weigh < 0 then
      error("may not be " .. scale.text(may_weigh))
    end
    may_sum = may_sum + may_weigh
  end
  --[[ a comment
       of two lines ]]
  local page = "may" .. [[
    inside a string
  ]]
  return may_sum + #page
end

return { total = total }
