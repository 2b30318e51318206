/** Whether a client takes an answer in this encoding, by its `Accept-Encoding` (RFC 9110 §12.5.3). */
export function acceptsEncoding(accepted: string, encoding: string): boolean {
  return accepted.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}
