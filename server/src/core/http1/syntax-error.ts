/** An answer is not acceptable HTTP/1.1, or a request would not be. The text quotes nothing. */
export class HttpSyntaxError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'HttpSyntaxError'
  }
}
