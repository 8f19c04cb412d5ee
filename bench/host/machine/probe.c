/*
 * Small loops that tell machines apart. Compiled by the TinyCC inside Bun, without optimisation: the same instructions on every
 * machine of one architecture, whatever compilers it has. All times in nanoseconds. Linux only (the layout of sockaddr).
 */
typedef unsigned long u64;

struct timespec { long seconds; long nanoseconds; };
struct address { unsigned short family; unsigned short port; unsigned int host; char zero[8]; };
extern int clock_gettime(int clock, struct timespec *time);
extern void *malloc(u64 size);
extern int socket(int domain, int type, int protocol);
extern int bind(int fd, void *address, unsigned int length);
extern int listen(int fd, int backlog);
extern int getsockname(int fd, void *address, unsigned int *length);
extern int connect(int fd, void *address, unsigned int length);
extern int accept(int fd, void *address, unsigned int *length);
extern long send(int fd, void *buffer, u64 length, int flags);
extern long recv(int fd, void *buffer, u64 length, int flags);
extern int close(int fd);

static double now(void) {
  struct timespec time;
  clock_gettime(1 /* monotonic */, &time);
  return time.seconds * 1e9 + time.nanoseconds;
}

/* Takes the results, so that no compiler removes a loop. */
static volatile u64 sink;

/* Four independent chains of xorshift keep a core fully busy, so that another busy thread of the same core slows them. */
double alu(int turns) {
  u64 a = 1, b = 2, c = 3, d = 4;
  double since = now();
  for (int i = 0; i < turns; i++) {
    a ^= a << 13; b ^= b << 13; c ^= c << 13; d ^= d << 13;
    a ^= a >> 7;  b ^= b >> 7;  c ^= c >> 7;  d ^= d >> 7;
    a ^= a << 17; b ^= b << 17; c ^= c << 17; d ^= d << 17;
  }
  double ran = now() - since;
  sink = a + b + c + d;
  return ran / turns;
}

/* 128 MiB, more than a core's caches hold. */
enum { LINE = 64, LINES = 1 << 21, NEXT = LINE / sizeof(u64) };
static u64 *memory, last;

/* Memory in which each cache line holds the index of the next, in an order that the CPU cannot prefetch. */
static int arrange(void) {
  u64 x = 88172645463325252UL;
  memory = malloc((u64)LINES * LINE);
  if (!memory) return 0;
  for (u64 i = 0; i < LINES; i++) memory[i * NEXT] = i;
  for (u64 i = LINES - 1; i > 0; i--) { /* Sattolo 1986: one cycle through all lines */
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    u64 j = x % i, line = memory[i * NEXT];
    memory[i * NEXT] = memory[j * NEXT];
    memory[j * NEXT] = line;
  }
  return 1;
}

/* Loads, each of which waits for the one before; starts where the last call ended. */
double chase(int turns) {
  if (!memory && !arrange()) return -1;
  u64 *lines = memory, at = last;
  double since = now();
  for (int i = 0; i < turns; i++) at = lines[at * NEXT];
  double ran = now() - since;
  last = at;
  return ran / turns;
}

/* Round trip of one byte over TCP on loopback, both ends in one thread: the cost of the kernel's network code. */
double loopback(int turns) {
  struct address address = {2 /* IPv4 */, 0, 0x0100007f, {0}};
  unsigned int length = sizeof address;
  char byte = 1;
  int door = socket(2, 1, 0), one = socket(2, 1, 0), other;
  double ran = -1;
  if (bind(door, &address, length) == 0 && listen(door, 1) == 0 && getsockname(door, &address, &length) == 0 &&
      connect(one, &address, length) == 0 && (other = accept(door, 0, 0)) >= 0) {
    double since = now();
    for (int i = 0; i < turns; i++) {
      send(one, &byte, 1, 0);
      recv(other, &byte, 1, 0);
      send(other, &byte, 1, 0);
      recv(one, &byte, 1, 0);
    }
    ran = (now() - since) / turns;
    close(other);
  }
  close(one);
  close(door);
  return ran;
}
