module Shop

using Dates
export total

const RATE = 0.19

"What is sold."
struct Item
    name::String
    price::Float64
end

abstract type Account end

mutable struct Basket{T} <: Account
    items::Vector{T}
    Basket{T}() where {T} = new{T}(T[])
end

"""
    total(basket)

The sum.
"""
function total(basket::Basket; tax=true)
    sum(item.price for item in basket.items) * (tax ? 1 + RATE : 1)
end

half(x::Number) = x / 2

Base.show(io::IO, item::Item) = print(io, item.name)

macro twice(e)
    quote
        $(esc(e))
        $(esc(e))
    end
end

end
