import { Button } from '@mantine/core'
import type { FormEvent, ReactNode } from 'react'
import { Done } from '../page/done.tsx'
import { FormProblem } from '../page/problem.tsx'
import form from './form.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** The result of `useSubmit`. */
export interface Sending {
  readonly submit: (event?: FormEvent<HTMLFormElement>) => void
  readonly isPending: boolean
  readonly problem: string | undefined
}

interface FormFrameProps {
  readonly sending: Sending
  /** The label of the button, a verb; “Save” when absent. */
  readonly action?: string | undefined
  /** `second`: a secondary form, whose button is less prominent. */
  readonly rank?: 'first' | 'second'
  /** False while there is nothing to send. */
  readonly ready?: boolean
  /** The result of the last submission, for forms that stay open. */
  readonly done?: string | undefined
  /** Closes the dialog around the form; absent: the form is part of the page. */
  readonly onClose?: () => void
  /** Other actions on the same object, before the buttons. */
  readonly beside?: ReactNode
  readonly children: ReactNode
}

/** A form: fields, the error that belongs to no field, and buttons. */
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
