/**
 * A gateway file as a tree in which every node knows its place, whatever it was written in. Scalars keep the text they
 * were written with, so that a price is read from `0.9` and never from a float near it.
 */
export type FileNode = MapNode | ListNode | ScalarNode

export interface Place {
  /** From 1. */
  readonly line: number
  readonly column: number
  /** `models[0].chains[1].vendor`; empty for the whole file. */
  readonly path: string
}

export interface MapNode {
  readonly kind: 'map'
  readonly place: Place
  /** In file order; each name once. */
  readonly entries: ReadonlyMap<string, MapEntry>
}

export interface MapEntry {
  readonly keyPlace: Place
  readonly value: FileNode
}

export interface ListNode {
  readonly kind: 'list'
  readonly place: Place
  readonly items: readonly FileNode[]
}

export interface ScalarNode {
  readonly kind: 'scalar'
  readonly place: Place
  /** What was written, after `${NAME}` was put in; without quotes. */
  readonly text: string
  /** What YAML takes it for. Quoted text is always `text`, unless a variable made it. */
  readonly meaning: 'null' | 'true' | 'false' | 'number' | 'text'
  /** True when a variable is part of the text. */
  readonly expanded: boolean
}

/** One thing wrong with the file. */
export interface Mistake {
  readonly place: Place
  readonly message: string
}

export type Report = (place: Place, message: string) => void

/** `gateway.yaml:12:7 models[0].name: must be text` – a place an editor can jump to, then what is wrong there. */
export function printMistake(file: string, { place, message }: Mistake): string {
  const path = place.path === '' ? '' : ` ${place.path}`
  return `${file}:${place.line}:${place.column}${path}: ${message}`
}
