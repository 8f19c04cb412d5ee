package benchmark.spring.content;

record User(int id, String name, String email) {}
