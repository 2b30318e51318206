/**
 * A credential in memory. It prints as `[secret]` everywhere (string, JSON, console), so that it cannot
 * reach a log by accident; only `upstream/` and the hashing of keys call `unwrap`.
 */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  unwrap(): string {
    return this.#value
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]'
  }
}
