# How it is built.
CC := gcc
FLAGS ?= -O2 \
	-Wall
export PATH

include rules.mk

define banner
	@echo building
endef

.PHONY: all clean

all: main

# The program.
main: main.o util.o | out
	$(CC) -o $@ $^
	$(banner)

%.o: %.c
	$(CC) $(FLAGS) -c $<

ifeq ($(OS),Windows_NT)
EXE := .exe
else
EXE :=
endif

clean:
	rm -f *.o main
