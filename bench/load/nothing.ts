/** The fastest server there can be here: it answers every request with the bytes of /plain, and reads none of it. */
const body = '{"message":"Hello, world!"}';
const answer = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

Bun.listen({
  hostname: process.env.HOST as string,
  port: Number(process.env.PORT),
  socket: { data: (socket) => void socket.write(answer) },
});
