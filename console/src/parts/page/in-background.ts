/** For promises that nobody awaits: a failure is reported to the window's error handler. */
export function inBackground(work: Promise<unknown> | undefined): void {
  work?.catch((error: unknown) => reportError(error))
}
