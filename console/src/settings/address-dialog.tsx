import { Button, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { changeAddress, type Channel, sendAddressCode } from '../api/access.ts'
import { accountQuery } from '../api/session.ts'
import { CodeInput } from '../parts/code-input.tsx'
import { Dialog } from '../parts/dialog.tsx'
import forms from '../parts/form.module.css'
import { inBackground } from '../parts/in-background.ts'
import { FormProblem } from '../parts/problem.tsx'
import { useSubmit } from '../parts/use-submit.ts'

interface AddressDialogProps {
  readonly channel: Channel
  readonly onClose: () => void
}

/** Another e-mail address or phone number, with the code that was sent there. */
export function AddressDialog({ channel, onClose }: AddressDialogProps) {
  const { t } = useTranslation()
  const queryClient = useQueryClient()
  const form = useForm({
    initialValues: { [channel]: '', code: '' },
    validate: {
      [channel]: (text) => ((text ?? '').trim() === '' ? t('signIn.contactWanted') : null),
      code: (text) => (/^\d{6}$/.test(text ?? '') ? null : t('signIn.codeWanted')),
    },
  })
  const targetOf = (): string => (form.getValues()[channel] ?? '').trim()
  const { submit, isPending, problem } = useSubmit(form, {
    send: ({ code }) => changeAddress(channel, targetOf(), code),
    onDone: () => {
      inBackground(queryClient.invalidateQueries({ queryKey: accountQuery().queryKey }))
      onClose()
    },
    fields: { 40005: 'code', 40900: channel },
  })
  return (
    <Dialog onClose={onClose} title={t(`settings.changeAddress.${channel}`)}>
      <form noValidate className={forms.stack} onSubmit={submit}>
        <TextInput
          label={t(`settings.newAddress.${channel}`)}
          size="lg"
          inputMode={channel === 'email' ? 'email' : 'tel'}
          data-autofocus
          {...form.getInputProps(channel)}
        />
        <CodeInput
          {...form.getInputProps('code')}
          onSend={async () => {
            if (targetOf() !== '') return sendAddressCode(channel, targetOf())
            form.validateField(channel)
            return undefined
          }}
        />
        <FormProblem text={problem} />
        <div className={forms.foot}>
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button type="submit" loading={isPending}>
            {t('settings.change')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
