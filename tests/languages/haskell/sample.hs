{-# LANGUAGE LambdaCase #-}

-- | Orders and their lines.
module Shop.Orders
  ( Order (..)
  , total
  ) where

import Data.List (sortOn)
import qualified Data.Map.Strict as Map

infixl 6 <+>

-- | An order.
data Order = Order
  { orderId :: Int
  , orderLines :: [Line]
  }
  deriving (Eq, Show)

data State a
  = Open
  | Paid a

newtype Price = Price {cents :: Int}

type Name = String

type family Elem c

class Priced a where
  price :: a -> Int
  price _ = 0

  name :: a -> String

instance Priced Order where
  price = total
  name order = "order " ++ show (orderId order)

instance Show (State a) where
  show = \case
    Open -> "open"
    Paid _ -> "paid"

deriving instance Eq Price

limit :: Int
limit = 10

-- | What is to be paid.
total :: Order -> Int
total order = sum (map linePrice (orderLines order))
  where
    linePrice line = price line * count line
    count = const 1

add :: Order -> Line -> Either String Order
add (Order _ []) _ = Left "empty"
add order line
  | price line > limit = Left "too much"
  | otherwise =
      let new = line : orderLines order
       in Right order {orderLines = new}

(<+>) :: Int -> Int -> Int
a <+> b = a + b

x `plus` y = x + y

(first, second) = (1, 2)

main :: IO ()
main = do
  line <- getLine
  let n = read line
  if n > 0
    then print n
    else pure ()
  mapM_ print $ sortOn negate [1, 2, 3]
