/** Sends the authorization response on by itself; the page's button does the same where this doesn't run. */
const form = document.getElementById('form-post')

// from the prototype: a field named `submit` would stand in the form's own method
if (form instanceof HTMLFormElement) HTMLFormElement.prototype.submit.call(form)
