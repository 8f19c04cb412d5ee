/*
 * Small loops that tell machines apart. Compiled by the TinyCC inside Bun, without optimisation: the same instructions on every
 * machine of one architecture, whatever compilers it has. All times in nanoseconds. Linux only (the layout of sockaddr).
 */
typedef unsigned long u64;

struct timespec { long seconds; long nanoseconds; };
struct address { unsigned short family; unsigned short port; unsigned int host; char zero[8]; };
extern int clock_gettime(int clock, struct timespec *time);
extern int getppid(void);
extern void *malloc(u64 size);
extern void free(void *memory);
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

double syscalls(int turns) {
  u64 sum = 0;
  double since = now();
  for (int i = 0; i < turns; i++) sum += getppid();
  double ran = now() - since;
  sink = sum;
  return ran / turns;
}

static u64 f0(u64 x) { return x + 1; }
static u64 f1(u64 x) { return x ^ 3; }
static u64 f2(u64 x) { return x + 5; }
static u64 f3(u64 x) { return x ^ 7; }

/* Calls through a pointer, in an order that the CPU cannot predict. */
double indirect(int turns) {
  u64 (*calls[4])(u64) = {f0, f1, f2, f3};
  u64 x = 88172645463325252UL, sum = 0;
  double since = now();
  for (int i = 0; i < turns; i++) {
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    sum = calls[x & 3](sum);
  }
  double ran = now() - since;
  sink = sum;
  return ran / turns;
}

static u64 *memory, memoryBytes, last;

/* Memory in which each cache line holds the index of the next, in an order that the CPU cannot prefetch; new for each new size. */
static int arrange(u64 bytes) {
  u64 lines = bytes / 64, x = 88172645463325252UL;
  if (memoryBytes == bytes) return 1;
  free(memory);
  memoryBytes = 0;
  memory = malloc(bytes);
  if (!memory) return 0;
  for (u64 i = 0; i < lines; i++) memory[i * 8] = i;
  for (u64 i = lines - 1; i > 0; i--) { /* Sattolo 1986: one cycle through all lines */
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    u64 j = x % i, line = memory[i * 8];
    memory[i * 8] = memory[j * 8];
    memory[j * 8] = line;
  }
  memoryBytes = bytes;
  last = 0;
  return 1;
}

/* Loads, each of which waits for the one before, within so many bytes; starts where the last call ended. */
double chase(int bytes, int turns) {
  if (!arrange(bytes)) return -1;
  u64 *lines = memory, at = last;
  double since = now();
  for (int i = 0; i < turns; i++) at = lines[at * 8];
  double ran = now() - since;
  last = at;
  return ran / turns;
}

/* The first write to a page of fresh memory. */
double touch(int pages) {
  char *memory = malloc((u64)pages * 4096);
  if (!memory) return -1;
  double since = now();
  for (int i = 0; i < pages; i++) memory[(u64)i * 4096] = 1;
  double ran = now() - since;
  free(memory);
  return ran / pages;
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
