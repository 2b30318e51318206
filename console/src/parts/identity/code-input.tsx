import { Button, TextInput, type TextInputProps } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useProblemText } from '../page/use-problem.ts'
import styles from './code-input.module.css'

/** Before that another code would hardly come sooner than the first one. */
const PAUSE_SECONDS = 30

interface CodeInputProps extends Omit<TextInputProps, 'rightSection'> {
  /** Has a code sent; undefined: there is nowhere to send it yet. */
  readonly onSend: () => Promise<unknown>
  /** Whose address it is: of an account that there is, or one that no account may have yet. */
  readonly goesTo: 'account' | 'newcomer'
}

/** Six digits, and the button that has them sent. */
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
