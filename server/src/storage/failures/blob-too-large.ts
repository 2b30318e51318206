/** More bytes than the caller allows; none are kept. */
export class BlobTooLarge extends Error {
  readonly maxBytes: number

  constructor(maxBytes: number) {
    super(`a blob holds more than ${maxBytes} bytes`)
    this.name = 'BlobTooLarge'
    this.maxBytes = maxBytes
  }
}
