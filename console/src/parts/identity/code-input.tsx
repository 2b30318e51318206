import { Button, TextInput, type TextInputProps } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useProblemText } from '../page/use-problem.ts'
import styles from './code-input.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** Seconds before another code can be sent: until then the first one may still arrive. */
const PAUSE_SECONDS = 30

interface CodeInputProps extends Omit<TextInputProps, 'rightSection'> {
  /** Requests a code; resolves to undefined if no address was entered yet. */
  readonly onSend: () => Promise<unknown>
  /** Whether the address belongs to an existing account, or is new to the gateway. */
  readonly goesTo: 'account' | 'newcomer'
}

/** A field for a code of six digits, with a button that sends one. */
export function CodeInput({ onSend, goesTo, error, ...input }: CodeInputProps) {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const [pause, setPause] = useState(0)
  const send = useMutation({
    mutationFn: onSend,
    onSuccess: (sent) => sent !== undefined && setPause(PAUSE_SECONDS),
  })
  useEffect(() => {
    if (pause === 0) return
    const timer = setTimeout(() => setPause(pause - 1), 1_000)
    return () => clearTimeout(timer)
  }, [pause])
  const sent = send.isSuccess && send.data !== undefined
  return (
    <div className={styles.codeRow}>
      <TextInput
        {...input}
        label={t('signIn.code')}
        description={sent ? t(`signIn.codeSent.${goesTo}`) : undefined}
        error={send.error === null ? error : problemText(send.error)}
        size="lg"
        autoComplete="one-time-code"
        inputMode="numeric"
        maxLength={6}
        rightSectionWidth={132}
        rightSection={
          <Button
            variant="subtle"
            size="xs"
            loading={send.isPending}
            disabled={pause > 0}
            onClick={() => send.mutate()}
          >
            {pause > 0 ? t('signIn.again', { seconds: pause }) : t('signIn.sendCode')}
          </Button>
        }
      />
    </div>
  )
}
