/** The sums on the page as a file, hour by hour or day by day. */

type Cell = string | number | null

interface Row {
  readonly [name: string]: Cell | Readonly<Record<string, Cell>>
}

/** Nested members become columns of their own. */
function cellsOf(row: Row): Readonly<Record<string, Cell>> {
  const cells: Record<string, Cell> = {}
  for (const [name, value] of Object.entries(row)) {
    if (typeof value === 'object' && value !== null) Object.assign(cells, value)
    else cells[name] = value
  }
  return cells
}

export function fileOf(rows: readonly Row[], format: 'csv' | 'ndjson'): Blob {
  if (format === 'ndjson') {
    return new Blob([rows.map((row) => `${JSON.stringify(row)}\n`).join('')], {
      type: 'application/x-ndjson',
    })
  }
  const lines = rows.map(cellsOf)
  const names = Object.keys(lines[0] ?? {})
  const text = [names, ...lines.map((line) => names.map((name) => line[name] ?? ''))]
    .map((cells) => `${cells.map(quoted).join(',')}\r\n`)
    .join('')
  return new Blob([text], { type: 'text/csv' })
}

/** Quotes a value if necessary, and keeps spreadsheets from reading it as a formula. */
function quoted(cell: Cell): string {
  const text = String(cell ?? '')
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
