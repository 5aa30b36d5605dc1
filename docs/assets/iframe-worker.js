// Search in the site as it lies on a disk: browsers start no worker from a file, so a hidden frame works instead.
// The theme knows a frame by the name IFrameWorker.
class IFrameWorker extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    frame.title = "search";
    document.body.append(frame);
    this.inner = frame.contentWindow;
    this.loaded = new Promise((resolve) => {
      this.inner.document.open();
      this.inner.answer = (data) => this.answer(data);
      this.inner.loaded = resolve;
      this.inner.document.write(
        "<script>var postMessage = (data) => answer(data)</script>" +
          `<script src="${new URL(url, document.baseURI)}" onload="loaded()"></script>`,
      );
      this.inner.document.close();
    });
  }

  answer(data) {
    const event = new MessageEvent("message", { data });
    this.dispatchEvent(event);
    this.onmessage?.(event);
  }

  postMessage(data) {
    this.loaded.then(() => this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data })));
  }

  terminate() {
    this.inner.frameElement?.remove();
  }
}

if (location.protocol === "file:") {
  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
}
