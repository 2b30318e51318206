/** The last position at or before `at` that does not split a surrogate pair; at most the text's end. */
export function wholeCharacters(text: string, at: number): number {
  const last = text.charCodeAt(at - 1)
  return at < text.length && last >= 0xd800 && last <= 0xdbff ? at - 1 : Math.min(at, text.length)
}
