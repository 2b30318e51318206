/** The end of a channel between two processes of one group: a worker as the first process sees it, or `process` in a worker. */
export interface Channel<Message> {
  send?(message: Message, sent: (error: Error | null) => void): boolean
}

/**
 * Sends a message. A process may have ended without this one having heard of it: its message cannot be sent, `onUnsent`
 * is called, and `exit` or `disconnect` follows. Without a callback Node would throw that error where nobody catches it,
 * and one process that is killed would take the others with it.
 */
export function post<Message>(channel: Channel<Message>, message: Message, onUnsent?: () => void): void {
  channel.send?.(message, (error) => {
    if (error !== null) onUnsent?.()
  })
}
