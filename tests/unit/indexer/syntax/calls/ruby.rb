require "json"

module Billing
  class Invoice < Base::Record
    include Printable
    before_save :check

    def initialize(client)
      @client = Http::Client.new(client)
      check
    end

    def pay!(amount)
      @client.post(amount)
      Ledger.record(self.total)
      receipt = Receipt.new(amount)
      receipt.print
      JSON.parse("1")
    rescue PaymentError
      puts "no"
    end

    def check; end
  end
end
