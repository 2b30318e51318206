import type { Log } from '../telemetry/log.ts'
import type { Message } from './messenger.ts'
import type { Sender } from './sender.ts'

/** Prints messages to the operator's log: enough for trying everything, and for private use. */
export function createLogSender(log: Log): Sender<Message> {
  return {
    send(message) {
      log.warn(
        { channel: message.channel, to: message.to, text: message.text },
        'a message that no service is configured to send',
      )
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
}
