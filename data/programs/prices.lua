-- prices: the price of a product, from what the page says of itself, else from its text.
local signs = { ["€"] = "EUR", ["$"] = "USD", ["£"] = "GBP" }

local function from_text(text)
  for sign, currency in pairs(signs) do
    local plain = sign:gsub("%$", "%%$")
    local amount = text:match(plain .. "%s?(%d+[.,]%d%d)") or text:match("(%d+[.,]%d%d)%s?" .. plain)
    if amount then
      return amount:gsub(",", "."), currency
    end
  end
end

function page(p)
  local amount, currency = p.meta["product:price:amount"], p.meta["product:price:currency"]
  if not amount then
    amount, currency = from_text(p.text)
  end
  if tonumber(amount) then
    emit { price = tonumber(amount), currency = currency or "?" }
  end
end
