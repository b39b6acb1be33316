(* Orders and their lines. *)
open Printf
module M = Map.Make (String)

type state = Open | Paid of int

type 'a line = { name : string; mutable price : 'a; count : int }

exception Late of int

let limit = 10

(** What is to be paid. *)
let total lines =
  let price line = line.price * line.count in
  List.fold_left (fun sum line -> sum + price line) 0 lines

let rec even n = if n = 0 then true else odd (n - 1)
and odd n = if n = 0 then false else even (n - 1)

let add ?(log = false) ~order line : state =
  if log then printf "added %s\n" line.name;
  match order with
  | Open when line.price > limit -> raise (Late line.price)
  | Open -> Paid line.price
  | Paid n ->
      let sum = n + line.price in
      Paid sum

let ( <+> ) a b = a + b
let first, second = (1, 2)
let handle = function Open -> "open" | Paid _ -> "paid"

module type PRICED = sig
  type t

  val price : t -> int
end

module Index (P : PRICED) : sig
  val sum : P.t list -> int
end = struct
  let sum all = List.fold_left (fun n x -> n + P.price x) 0 all

  module Inner = struct
    let depth = 1
  end
end

class virtual counter start =
  object (self)
    val mutable n = start
    method get = n
    method add k = n <- n + k
    method virtual show : string
    initializer self#add 0
  end

external now : unit -> float = "caml_now"

let () =
  let numbers = [ 1; 2; 3 ] in
  List.iter (printf "%d") numbers;
  printf {|raw  text|}

let%test "adds" = 1 <+> 2 = 3
