/** Text as HTML shows it; a quotation mark only matters inside a tag. */
export function htmlText(text: string): string {
  return text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** The same, with text between backticks shown as code. */
export function markedText(text: string): string {
  return htmlText(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}
