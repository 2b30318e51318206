import type { Sentence } from '../../core/sentences/say.ts'

/**
 * A gateway file as a tree in which every node has its position, in any format. Scalars keep their original text, so
 * that a price is read from `0.9` and never from a float near it.
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
  /** The text after replacing `${NAME}`; without quotes. */
  readonly text: string
  /** The YAML type. Quoted text is always `text`, unless it comes from a variable. */
  readonly meaning: 'null' | 'true' | 'false' | 'number' | 'text'
  /** True when a variable is part of the text. */
  readonly expanded: boolean
}

/** A mistake in the file. */
export interface Mistake {
  readonly place: Place
  readonly message: Sentence
}

export type Report = (place: Place, message: Sentence) => void

/** `gateway.yaml:12:7 models[0].name: must be text` – a position an editor can jump to, then the mistake. */
export function printMistake(file: string, { place, message }: Mistake): string {
  const path = place.path === '' ? '' : ` ${place.path}`
  return `${file}:${place.line}:${place.column}${path}: ${message.text}`
}
