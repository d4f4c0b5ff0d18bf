self.addEventListener("message", async (event) => {
  const got = await fetch(event.data, { mode: "no-cors" }).then(() => "reached", () => "refused");
  (event.source || self).postMessage(got);
});
