/** The simplest window that can be right, for tests: a list of who used how much, and who holds how much. */
export class NaiveWindow {
  readonly lengthMs: number
  anchor: number | undefined
  private uses: { readonly call: string; readonly units: bigint }[] = []
  private readonly holds = new Map<string, bigint>()

  constructor(lengthMs: number) {
    this.lengthMs = lengthMs
  }

  used(at: number): bigint {
    return this.isRunning(at) ? sum(this.uses.map(({ units }) => units)) : 0n
  }

  held(): bigint {
    return sum([...this.holds.values()])
  }

  endsInMs(at: number): number {
    return this.anchor !== undefined && this.isRunning(at) ? this.anchor + this.lengthMs - at : this.lengthMs
  }

  use(call: string, units: bigint, at: number): void {
    if (units <= 0n) return
    this.begin(at)
    this.uses.push({ call, units })
  }

  /** What a call used when it ended, which may be told late: in the window that began after that, where there is one. */
  charge(call: string, units: bigint, at: number): void {
    const isEarlier = this.anchor !== undefined && at < this.anchor
    this.use(call, units, isEarlier ? (this.anchor ?? at) : at)
  }

  /** A call begins: a window that lies ahead by its length shows that the clock was set back, and is over. */
  noteBeginning(at: number): void {
    if (this.anchor === undefined || this.anchor < at + this.lengthMs) return
    this.uses = []
    this.anchor = this.holds.size === 0 ? undefined : at
  }

  hold(call: string, units: bigint, at: number): void {
    if (units <= 0n) return
    this.begin(at)
    this.holds.set(call, units)
  }

  release(call: string): void {
    this.holds.delete(call)
    this.endWhenEmpty()
  }

  giveBack(call: string, units: bigint): void {
    let rest = units
    this.uses = this.uses.flatMap((use) => {
      if (use.call !== call) return [use]
      const back = use.units < rest ? use.units : rest
      rest -= back
      return use.units === back ? [] : [{ call, units: use.units - back }]
    })
    this.endWhenEmpty()
  }

  isRunning(at: number): boolean {
    return this.anchor !== undefined && Math.abs(at - this.anchor) < this.lengthMs
  }

  private begin(at: number): void {
    if (this.isRunning(at)) return
    this.anchor = at
    this.uses = []
  }

  private endWhenEmpty(): void {
    if (this.uses.length === 0 && this.holds.size === 0) this.anchor = undefined
  }
}

const sum = (units: readonly bigint[]): bigint => units.reduce((total, unit) => total + unit, 0n)
