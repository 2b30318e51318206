/** What came is no HTTP/1.1 that is taken, or what should go out is none. The text quotes nothing. */
export class HttpSyntaxError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'HttpSyntaxError'
  }
}
