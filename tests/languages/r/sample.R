#!/usr/bin/env Rscript
library(stats)

limit <- 10L

#' Adds.
add <- function(x, y = 2) {
  x + y
}

half = function(x) x / 2

setClass("Person", representation(name = "character"))

setMethod("show", "Person", function(object) {
  cat(object@name)
})

Stack <- R6Class("Stack",
  public = list(
    push = function(x) {
      self$items <- c(self$items, x)
    }
  )
)

test_that("adding works", {
  expect_equal(add(1, 2), 3)
})

print(sapply(1:3, \(i) i^2))
