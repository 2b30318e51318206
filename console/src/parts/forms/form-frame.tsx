import { Button } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { Done } from '../page/done.tsx'
import { FormProblem } from '../page/problem.tsx'
import form from './form.module.css'

/** As `useSubmit` gives it. */
export interface Sending {
  readonly submit: (event?: FormEvent<HTMLFormElement>) => void
  readonly isPending: boolean
  readonly problem: string | undefined
}

interface FormFrameProps {
  readonly sending: Sending
  /** The verb on the button; “Save” when absent. */
  readonly action?: string | undefined
  /** `second`: beside others on the page this form is not what one has come for. */
  readonly rank?: 'first' | 'second'
  /** False while there is nothing to send. */
  readonly ready?: boolean
  /** What was done last. A form that tells it stays open for the next one. */
  readonly done?: string | undefined
  /** Of what the form lies in; absent: it lies in the page itself. */
  readonly onClose?: () => void
  /** What is done with the same thing otherwise, before the buttons. */
  readonly beside?: ReactNode
  readonly children: ReactNode
}

/** A form: its fields, what was refused of it as a whole, and its buttons. */
export function FormFrame({
  sending: { submit, isPending, problem },
  action,
  rank = 'first',
  ready = true,
  beside,
  children,
  ...ends
}: FormFrameProps) {
  const { t } = useTranslation()
  const { onClose } = ends
  return (
    <form noValidate className={form.stack} onSubmit={submit}>
      {children}
      <FormProblem text={problem} />
      <div className={form.foot}>
        {beside}
        {'done' in ends && <Done text={ends.done} />}
        {onClose !== undefined && (
          <Button variant="default" onClick={onClose}>
            {t('done' in ends ? 'close' : 'cancel')}
          </Button>
        )}
        <Button
          type="submit"
          {...(rank === 'second' ? { variant: 'default' } : {})}
          loading={isPending}
          disabled={!ready}
        >
          {action ?? t('save')}
        </Button>
      </div>
    </form>
  )
}
