package benchmark.spring.content;

/** The statements of both databases; data is JSON text. */
enum Query {
  CREATE("INSERT INTO content VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"),
  READ("SELECT * FROM content WHERE id = $1"),
  UPDATE(
      "UPDATE content SET title = $1, body = $2, author = $3, status = $4, data = $5,"
          + " updated_at = $6 WHERE id = $7 RETURNING *"),
  REMOVE("DELETE FROM content WHERE id = $1"),
  LIST("SELECT * FROM content WHERE id > $1 ORDER BY id LIMIT $2"),
  USERS("SELECT id, name, email FROM \"user\" ORDER BY id LIMIT $1"),
  ADD_USER("INSERT INTO \"user\" (name, email) VALUES ($1, $2) RETURNING id, name, email");

  final String sql;

  Query(String sql) {
    this.sql = sql;
  }
}
