/* A list of numbers. */
#include <stdio.h>
#include "list.h"

#define GROW 2
#define MAX(a, b) ((a) > (b) ? (a) : (b))

typedef unsigned long size;

struct node {
    int value;
    struct node *next;
};

typedef struct list {
    struct node *first;
    size length;
} list;

enum order { UP, DOWN };

union word {
    unsigned whole;
    unsigned char parts[4];
};

static int count = 0;
static const char *names[] = { "up", "down" };

static int compare(const void *, const void *);
list *list_new(void);

list *list_new(void)
{
    struct local { int x; } here = { 0 };
    count += here.x + 1;
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

#ifdef DEBUG
void list_print(const list *self, FILE *out)
{
    for (struct node *at = self->first; at; at = at->next)
        fprintf(out, "%d\n", at->value);
}
#endif

void each(list *self, int (*visit)(int value, void *data), void *data, ...)
{
    visit(self->first->value, data);
}
