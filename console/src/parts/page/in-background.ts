/** For work that nobody waits for: a failure of it is not lost, it ends at the window's own handler. */
export function inBackground(work: Promise<unknown> | undefined): void {
  work?.catch((error: unknown) => reportError(error))
}
